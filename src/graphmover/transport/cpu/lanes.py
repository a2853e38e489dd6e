"""SIMD vectors inside Numba code.

A vector of W int64, int32 or float64 numbers lives in registers; ``+ - * & | << >>``, ``<``, ``==``
and the functions below work lane by lane. LLVM's auto-vectoriser must assume that arrays overlap
and gives up on loops as short as ours. Its vector types make it vectorise, and compile on every
processor: to AVX-512, AVX2, NEON or plain scalar code.

The width W is the length of a tuple, ``(0,) * W``. It is part of the tuple's Numba type, so each
width gets code of its own, which can be cached on disk.
"""

from __future__ import annotations

import functools
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
    def pieces(self):
        """The LLVM vectors that it consists of: powers of two, since LLVM pads other widths."""
        powers = [1 << bit for bit in range(self.width.bit_length()) if self.width >> bit & 1]
        return [ir.VectorType(_ELEMENTS[self.element], power) for power in reversed(powers)]

    @property
    def starts(self):
        """The first lane of each piece."""
        return [sum(piece.count for piece in self.pieces[:at]) for at in range(len(self.pieces))]


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, ir.LiteralStructType(lanes.pieces))


def _split(builder, vector):
    """Return the pieces of a vector."""
    return [builder.extract_value(vector, at) for at in range(len(vector.type.elements))]


def _joined(builder, lanes, pieces):
    """Return the vector of some pieces."""
    vector = ir.Constant(ir.LiteralStructType(lanes.pieces), ir.Undefined)
    for at, piece in enumerate(pieces):
        vector = builder.insert_value(vector, piece, at)
    return vector


def _piece_by_piece(builder, lanes, emit, *vectors):
    """Return the vector whose pieces ``emit`` makes of the pieces of others."""
    pieces = zip(*(_split(builder, vector) for vector in vectors), strict=True)
    return _joined(builder, lanes, [emit(*piece) for piece in pieces])


def _has(context, feature):
    """Whether the processor that is compiled for has a feature."""
    return f"+{feature}" in context.codegen().magic_tuple()[2].split(",")


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
        is_float = signature.args[0].element == "float64"
        return _piece_by_piece(
            builder, signature.return_type, lambda a, b: emit(builder, is_float, a, b), *arguments
        )


_lane_by_lane(operator.add, lambda b, f, x, y: b.fadd(x, y) if f else b.add(x, y))
_lane_by_lane(operator.sub, lambda b, f, x, y: b.fsub(x, y) if f else b.sub(x, y))
_lane_by_lane(operator.mul, lambda b, f, x, y: b.fmul(x, y) if f else b.mul(x, y))
_lane_by_lane(operator.and_, lambda b, f, x, y: b.and_(x, y))
_lane_by_lane(operator.or_, lambda b, f, x, y: b.or_(x, y))
_lane_by_lane(operator.lshift, lambda b, f, x, y: b.shl(x, y))
_lane_by_lane(operator.rshift, lambda b, f, x, y: b.ashr(x, y))
_lane_by_lane(
    operator.lt,
    lambda b, f, x, y: b.fcmp_ordered("<", x, y) if f else b.icmp_signed("<", x, y),
    gives_mask=True,
)
_lane_by_lane(operator.eq, lambda b, f, x, y: b.icmp_signed("==", x, y), gives_mask=True)


def _addresses(context, builder, array_type, array, offset, lanes):
    """Return the address of each piece in an array."""
    data = context.make_array(array_type)(context, builder, array).data
    return [
        builder.bitcast(
            builder.gep(data, [builder.add(offset, ir.Constant(_INT64, start))]),
            piece.as_pointer(),
        )
        for start, piece in zip(lanes.starts, lanes.pieces, strict=True)
    ]


@intrinsic
def load(_, width, array, offset):
    """array[offset : offset + W]"""
    lanes = Lanes(str(array.dtype), width.count)

    def codegen(context, builder, signature, arguments):
        addresses = _addresses(context, builder, array, arguments[1], arguments[2], lanes)
        align = array.dtype.bitwidth // 8
        return _joined(builder, lanes, [builder.load(at, align=align) for at in addresses])

    return lanes(width, array, types.int64), codegen


@intrinsic
def store(_, array, offset, lanes):
    """array[offset : offset + W] = lanes"""

    def codegen(context, builder, signature, arguments):
        addresses = _addresses(context, builder, array, arguments[0], arguments[1], lanes)
        for piece, at in zip(_split(builder, arguments[2]), addresses, strict=True):
            builder.store(piece, at, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), codegen


def _everywhere(builder, lanes, number):
    pieces = []
    for kind in lanes.pieces:
        undefined = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
        indices = ir.Constant(ir.VectorType(_INT32, kind.count), [0] * kind.count)
        pieces.append(builder.shuffle_vector(first, first, indices))
    return _joined(builder, lanes, pieces)


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
        pieces = [
            ir.Constant(piece, list(range(start, start + piece.count)))
            for start, piece in zip(lanes.starts, lanes.pieces, strict=True)
        ]
        return _joined(builder, lanes, pieces)

    return lanes(width), codegen


@intrinsic
def select(_, mask, a, b):
    """The lanes of a where the mask is true, else those of b."""

    def codegen(context, builder, signature, arguments):
        return _piece_by_piece(builder, a, builder.select, *arguments)

    return a(mask, a, b), codegen


def _lesser(builder, a, b):
    return builder.select(builder.icmp_signed("<", a, b), a, b)


@intrinsic
def minimum(_, a, b):
    """The smaller number in each lane (integers)."""

    def codegen(context, builder, signature, arguments):
        return _piece_by_piece(builder, a, lambda x, y: _lesser(builder, x, y), *arguments)

    return a(a, b), codegen


@intrinsic
def minimum_of_positive(_, a, b):
    """The smaller number in each lane, of int64 from 0 to 2**62 + 2**61.

    Such integers compare as the float64 numbers with the same bits do, for which processors
    without AVX-512 have an instruction.
    """

    def codegen(context, builder, signature, arguments):
        if _has(context, "avx512f"):
            return _piece_by_piece(builder, a, lambda x, y: _lesser(builder, x, y), *arguments)

        def lesser_as_floats(x, y):
            kind = ir.VectorType(_FLOAT64, x.type.count)
            p, q = builder.bitcast(x, kind), builder.bitcast(y, kind)
            found = builder.select(builder.fcmp_ordered("<", p, q), p, q)
            return builder.bitcast(found, x.type)

        return _piece_by_piece(builder, a, lesser_as_floats, *arguments)

    return a(a, b), codegen


def _called(builder, name, result, *arguments):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic
def smallest(_, lanes):
    """The smallest number of all lanes (integers)."""
    element = _ELEMENTS[lanes.element]

    def codegen(context, builder, signature, arguments):
        found = [
            _called(
                builder, f"llvm.vector.reduce.smin.v{piece.type.count}{element}", element, piece
            )
            for piece in _split(builder, arguments[0])
        ]
        return functools.reduce(functools.partial(_lesser, builder), found)

    return getattr(types, lanes.element)(lanes), codegen


@intrinsic
def narrow(_, lanes):
    """int64 lanes as int32 lanes, in which their numbers must fit."""
    narrower = Lanes("int32", lanes.width)

    def codegen(context, builder, signature, arguments):
        def cut(piece):
            return builder.trunc(piece, ir.VectorType(_INT32, piece.type.count))

        return _piece_by_piece(builder, narrower, cut, *arguments)

    return narrower(lanes), codegen


@intrinsic
def square_root(_, lanes):
    """The square root of each lane (float64)."""

    def codegen(context, builder, signature, arguments):
        def root(piece):
            return _called(builder, f"llvm.sqrt.v{piece.type.count}f64", piece.type, piece)

        return _piece_by_piece(builder, lanes, root, *arguments)

    return lanes(lanes), codegen


@intrinsic
def multiply_add(_, a, b, c):
    """The product of a and b, plus c (float64): rounded once where the processor can do that."""

    def codegen(context, builder, signature, arguments):
        def fused(x, y, z):
            if _has(context, "fma") or _has(context, "neon"):
                return _called(builder, f"llvm.fma.v{x.type.count}f64", x.type, x, y, z)
            return builder.fadd(builder.fmul(x, y), z)

        return _piece_by_piece(builder, a, fused, *arguments)

    return a(a, b, c), codegen


@intrinsic
def nearest_integer(_, lanes):
    """float64 lanes, from 0 to 2**51, as int64 lanes.

    Added to 2**52, a number is an integer in the low bits of its float64: processors without
    AVX-512 have no instruction that converts several numbers.
    """
    integer = Lanes("int64", lanes.width)

    def codegen(context, builder, signature, arguments):
        def converted(piece):
            kind = ir.VectorType(_INT64, piece.type.count)
            shifted = builder.fadd(piece, ir.Constant(piece.type, [2.0**52] * kind.count))
            zero = ir.Constant(kind, [0x433 << 52] * kind.count)  # the bits of 2**52
            return builder.sub(builder.bitcast(shifted, kind), zero)

        return _piece_by_piece(builder, integer, converted, *arguments)

    return integer(lanes), codegen


@intrinsic
def bits(_, mask):
    """A mask as the bits of an int64 (at most 64 lanes)."""

    def codegen(context, builder, signature, arguments):
        word = ir.Constant(_INT64, 0)
        for start, piece in zip(mask.starts, _split(builder, arguments[0]), strict=True):
            own = builder.bitcast(piece, ir.IntType(piece.type.count))
            own = builder.zext(own, _INT64) if piece.type.count < 64 else own
            word = builder.or_(word, builder.shl(own, ir.Constant(_INT64, start)))
        return word

    return types.int64(mask), codegen


@intrinsic
def lowest_bit(_, word):
    """The index of the lowest set bit; at least one must be set."""

    def codegen(context, builder, signature, arguments):
        return _called(builder, "llvm.cttz.i64", _INT64, arguments[0], ir.Constant(_BIT, 1))

    return types.int64(types.int64), codegen
