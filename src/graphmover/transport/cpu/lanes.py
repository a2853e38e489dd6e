"""SIMD vectors inside Numba code.

A vector of W int64, int32 or float64 numbers lives in registers; ``+ - * & | >>``, ``<``, ``==``
and the functions below work lane by lane. LLVM's auto-vectoriser must assume that arrays overlap
and gives up on loops as short as ours. Its vector types make it vectorise, and compile on every
processor: to AVX-512, AVX2, NEON or plain scalar code.

The width W is the length of a tuple, ``(0,) * W``. It is part of the tuple's Numba type, so each
width gets code of its own, which can be cached on disk.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

from graphmover._utils.jit import JIT_NO_ALLOCATION

#: For short functions in inner loops: LLVM inlines them wherever they are called, so that vectors
#: stay in registers and constant arguments stay constants.
JIT_INLINE = JIT_NO_ALLOCATION | {"forceinline": True}

_BIT, _INT32, _INT64, _FLOAT64 = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_ELEMENTS = {
    "bool": _BIT,
    "int32": _INT32,
    "uint32": _INT32,
    "int64": _INT64,
    "float64": _FLOAT64,
}


class Lanes(types.Type):
    """The Numba type of a vector: element "bool", "int64", "float64" and so on."""

    def __init__(self, element, width):
        self.element, self.width = element, width
        super().__init__(name=f"Lanes({element} x {width})")

    @property
    def vector(self):
        """The LLVM type."""
        return ir.VectorType(_ELEMENTS[self.element], self.width)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, lanes.vector)


def _lane_by_lane(python_operator, emit, *, gives_mask=False):
    """Make a Python operator work on two vectors; emit(builder, is_float, a, b)."""

    @infer_global(python_operator)
    class LaneByLane(AbstractTemplate):
        def generic(self, args, kws):
            if not all(isinstance(argument, Lanes) for argument in args):
                return None
            a, b = args
            return signature(Lanes("bool", a.width) if gives_mask else a, a, b)

    @lower_builtin(python_operator, Lanes, Lanes)
    def codegen(context, builder, signature, arguments):
        return emit(builder, signature.args[0].element == "float64", *arguments)


_lane_by_lane(operator.add, lambda b, f, x, y: b.fadd(x, y) if f else b.add(x, y))
_lane_by_lane(operator.sub, lambda b, f, x, y: b.fsub(x, y) if f else b.sub(x, y))
_lane_by_lane(operator.mul, lambda b, f, x, y: b.fmul(x, y) if f else b.mul(x, y))
_lane_by_lane(operator.and_, lambda b, f, x, y: b.and_(x, y))
_lane_by_lane(operator.or_, lambda b, f, x, y: b.or_(x, y))
_lane_by_lane(operator.rshift, lambda b, f, x, y: b.ashr(x, y))
_lane_by_lane(
    operator.lt,
    lambda b, f, x, y: b.fcmp_ordered("<", x, y) if f else b.icmp_signed("<", x, y),
    gives_mask=True,
)
_lane_by_lane(operator.eq, lambda b, f, x, y: b.icmp_signed("==", x, y), gives_mask=True)


def _address(context, builder, array_type, array, offset, lanes):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), lanes.vector.as_pointer())


@intrinsic
def load(_, width, array, offset):
    """array[offset : offset + W]"""
    lanes = Lanes(str(array.dtype), width.count)

    def codegen(context, builder, signature, arguments):
        address = _address(context, builder, array, arguments[1], arguments[2], lanes)
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return lanes(width, array, types.int64), codegen


@intrinsic
def store(_, array, offset, lanes):
    """array[offset : offset + W] = lanes"""

    def codegen(context, builder, signature, arguments):
        address = _address(context, builder, array, arguments[0], arguments[1], lanes)
        builder.store(arguments[2], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), codegen


def _everywhere(builder, lanes, number):
    undefined = ir.Constant(lanes.vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
    indices = ir.Constant(ir.VectorType(_INT32, lanes.width), [0] * lanes.width)
    return builder.shuffle_vector(first, first, indices)


@intrinsic
def splat(_, width, number):
    """The same number in every lane, as float64 or int64."""
    element = "float64" if isinstance(number, types.Float) else "int64"
    lanes = Lanes(element, width.count)

    def codegen(context, builder, signature, arguments):
        return _everywhere(builder, lanes, arguments[1])

    return lanes(width, getattr(types, element)), codegen


@intrinsic
def splat_like(_, lanes, number):
    """The same number in every lane, of the type of other lanes."""

    def codegen(context, builder, signature, arguments):
        return _everywhere(builder, lanes, arguments[1])

    return lanes(lanes, getattr(types, lanes.element)), codegen


@intrinsic
def numbers(_, width):
    """0, 1, ..., W - 1"""
    lanes = Lanes("int64", width.count)

    def codegen(context, builder, signature, arguments):
        return ir.Constant(lanes.vector, list(range(lanes.width)))

    return lanes(width), codegen


@intrinsic
def select(_, mask, a, b):
    """The lanes of a where the mask is true, else those of b."""

    def codegen(context, builder, signature, arguments):
        return builder.select(*arguments)

    return a(mask, a, b), codegen


@intrinsic
def minimum(_, a, b):
    """The smaller number in each lane (integers)."""

    def codegen(context, builder, signature, arguments):
        return builder.select(builder.icmp_signed("<", *arguments), *arguments)

    return a(a, b), codegen


@intrinsic
def smallest(_, lanes):
    """The smallest number of all lanes (integers)."""
    element = _ELEMENTS[lanes.element]

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(element, [lanes.vector])
        name = f"llvm.vector.reduce.smin.v{lanes.width}{element}"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    return getattr(types, lanes.element)(lanes), codegen


@intrinsic
def narrow(_, lanes):
    """int64 lanes as int32 lanes, in which their numbers must fit."""
    narrower = Lanes("int32", lanes.width)

    def codegen(context, builder, signature, arguments):
        return builder.trunc(arguments[0], narrower.vector)

    return narrower(lanes), codegen


@intrinsic
def square_root(_, lanes):
    """The square root of each lane (float64)."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(lanes.vector, [lanes.vector])
        name = f"llvm.sqrt.v{lanes.width}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    return lanes(lanes), codegen


@intrinsic
def truncate(_, lanes):
    """float64 lanes as int64 lanes, rounded towards zero."""
    integer = Lanes("int64", lanes.width)

    def codegen(context, builder, signature, arguments):
        return builder.fptosi(arguments[0], integer.vector)

    return integer(lanes), codegen


@intrinsic
def bits(_, mask):
    """A mask as the bits of an int64 (at most 64 lanes)."""

    def codegen(context, builder, signature, arguments):
        return builder.zext(builder.bitcast(arguments[0], ir.IntType(mask.width)), _INT64)

    return types.int64(mask), codegen


@intrinsic
def lowest_bit(_, word):
    """The index of the lowest set bit; at least one must be set."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(_INT64, [_INT64, _BIT])
        count = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")
        return builder.call(count, [arguments[0], ir.Constant(_BIT, 1)])

    return types.int64(types.int64), codegen
