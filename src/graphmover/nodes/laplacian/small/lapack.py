"""Calls of LAPACK from compiled code.

The address of a routine is an argument, never a constant of the compiled code: code cached on
disk also runs in processes where LAPACK is loaded at another address.
"""

from __future__ import annotations

from functools import cache

from llvmlite import ir
from numba import types
from numba.extending import get_cython_function_address, intrinsic


@cache
def tridiagonalisation() -> int:
    """Return the address of ``dsytrd`` in scipy's LAPACK."""
    return int(get_cython_function_address("scipy.linalg.cython_lapack", "dsytrd"))


@intrinsic
def call_with_ten_pointers(typingctx, address, a, b, c, d, e, f, g, h, i, j):
    """Call a Fortran routine of ten arguments with pointers to the data of ten arrays."""
    arrays = (a, b, c, d, e, f, g, h, i, j)

    def codegen(context, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        data = [
            builder.bitcast(context.make_array(kind)(context, builder, value).data, pointer)
            for kind, value in zip(signature.args[1:], arguments[1:], strict=True)
        ]
        routine = ir.FunctionType(ir.VoidType(), [pointer] * 10).as_pointer()
        builder.call(builder.inttoptr(arguments[0], routine), data)
        return context.get_dummy_value()

    return types.void(types.int64, *arrays), codegen
