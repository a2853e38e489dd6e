"""Footers and page headers of Parquet files as trees, which tests change and write again.

A structure is a dict of field numbers to (kind, value), a list is (kind of items, items).
"""

TRUE, FALSE, BYTE, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 5, 6, 7, 8, 9, 12


class Tree:
    """Reads values of Thrift's compact protocol from a position on."""

    def __init__(self, content, at=0):
        self.content, self.at = content, at

    def take(self, length):
        self.at += length
        return self.content[self.at - length : self.at]

    def varint(self):
        number, shift, byte = 0, 0, 128
        while byte & 128:
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            shift += 7
        return number

    def read(self, kind=STRUCT):
        if kind in (TRUE, FALSE):
            return None
        if kind in (BYTE, DOUBLE, BINARY):
            return self.take({BYTE: 1, DOUBLE: 8}.get(kind) or self.varint())
        if kind == LIST:
            header = self.take(1)[0]
            length = self.varint() if header >> 4 == 15 else header >> 4
            return header & 15, [self.read(header & 15) for _ in range(length)]
        if kind == STRUCT:
            fields, number = {}, 0
            while header := self.take(1)[0]:
                number = number + (header >> 4) if header >> 4 else self.read(I32)
                fields[number] = header & 15, self.read(header & 15)
            return fields
        number = self.varint()
        return (number >> 1) ^ -(number & 1)


def varint(number):
    rest = b""
    while number > 127:
        rest += bytes([number & 127 | 128])
        number >>= 7
    return rest + bytes([number])


def zigzag(number):
    return varint(number << 1 ^ number >> 63)


def written(value, kind=STRUCT):
    """Return the bytes of a value; lists of truth values are not needed."""
    if kind in (TRUE, FALSE):
        return b""
    if kind in (BYTE, DOUBLE):
        return value
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        of, items = value
        is_short = len(items) < 15
        header = bytes([min(len(items), 15) << 4 | of]) + (b"" if is_short else varint(len(items)))
        return header + b"".join(written(item, of) for item in items)
    if kind == STRUCT:
        content, before = b"", 0
        for number, (of, item) in sorted(value.items()):
            step = number - before
            header = bytes([step << 4 | of]) if step < 16 else bytes([of]) + zigzag(number)
            content, before = content + header + written(item, of), number
        return content + b"\0"
    return zigzag(value)


def with_footer(path, change):
    """Let ``change(footer, columns)`` alter the footer of a file; columns are all row groups'."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = Tree(content, start).read()
    columns = [column[3][1] for group in footer[4][1][1] for column in group[1][1][1]]
    pages = change(footer, columns) or content[:start]
    text = written(footer)
    path.write_bytes(pages + text + len(text).to_bytes(4, "little") + b"PAR1")
    return path


def with_page(path, index, change):
    """Let ``change(header, page)`` alter the first page of a column, and return its new bytes."""
    content = path.read_bytes()

    def exchange(footer, columns):
        column = columns[index % len(columns)]
        start = min(column[number][1] for number in (9, 11) if number in column)
        tree = Tree(content, start)
        header = tree.read()
        end = tree.at + header[3][1]
        page = change(header, content[tree.at : end])
        header[3] = I32, len(page)
        if 11 in column:
            column[9] = I64, start + len(written(header)) + len(page)
        rest = content[end : -8 - int.from_bytes(content[-8:-4], "little")]
        pages = content[:start] + written(header) + page + rest
        column[7] = I64, len(pages) - start
        return pages

    return with_footer(path, exchange)
