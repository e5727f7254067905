"""smuggle.py - requests that two readers could take apart in two ways (H07).

Each case is one connection's bytes with a whole upload hidden in them, where a
careful reader finds a body, or nothing it would accept at all. A reader that
counts the hidden upload has been led astray. The upload of each case hits a
cell of its own, so that it shows which one it was.
"""

HEAD = b"POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"


def _post(*fields, line=None):
    head = HEAD if line is None else line + HEAD[HEAD.index(b"\r\n"):]
    return head + b"".join(f + b"\r\n" for f in fields) + b"\r\n"


def _hidden(upload):
    return _post(b"Content-Length: %d" % len(upload)) + upload


# Names for one coding that some readers see and some do not.
CODINGS = [b"Transfer-Encoding: chunked", b"Transfer-Encoding:chunked", b"Transfer-Encoding:  chunked", b"Transfer-Encoding:\tchunked", b"transfer-encoding: chunked",
           b"TRANSFER-ENCODING: CHUNKED", b"Transfer-Encoding : chunked", b"Transfer-Encoding\t: chunked", b" Transfer-Encoding: chunked", b"\tTransfer-Encoding: chunked",
           b"Transfer-Encoding: chunked ", b"Transfer-Encoding: chunked\t", b"Transfer-Encoding: \x0bchunked", b"Transfer-Encoding: chunked\x0b", b"Transfer-Encoding: \x00chunked",
           b"Transfer-Encoding: chunked\x00", b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunkedx", b"Transfer-Encoding: chunked, identity",
           b"Transfer-Encoding: identity, chunked", b"Transfer-Encoding: identity", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, chunked",
           b"Transfer-Encoding: \"chunked\"", b"Transfer-Encoding: 'chunked'", b"Transfer-Encoding: chunked;a=b", b"Transfer-Encoding:\r\n chunked", b"Transfer-Encoding:\r\n\tchunked",
           b"Transfer-Encoding: \r\n chunked", b"Transfer-Encoding:\n chunked", b"Transfer-Encoding: chu\r\n nked", b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked",
           b"X: y\r\r\nTransfer-Encoding: chunked", b"X: y\n\rTransfer-Encoding: chunked", b"Transfer-Encoding; chunked", b"Transfer-Encoding chunked",
           b"\x00Transfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
           b"Transfer-Encoding:", b"Transfer-Encoding: \xffchunked", b"X-Transfer-Encoding: chunked\r\nTransfer-Encoding: cow", b"Foo: bar\r\n\x0bTransfer-Encoding: chunked"]

# Lengths that are not one number of digits; %d is the real one.
LENGTHS = [b"Content-Length: +%d", b"Content-Length: -%d", b"Content-Length: %d, %d", b"Content-Length: %d,%d", b"Content-Length: 0, %d", b"Content-Length: %d, 0", b"Content-Length: 0x%x",
           b"Content-Length: %d.0", b"Content-Length: %de0", b"Content-Length: \"%d\"", b"Content-Length: %d;", b"Content-Length: %d a", b"Content-Length: a %d", b"Content-Length: 0 %d",
           b"Content-Length: %d\x0b", b"Content-Length: \x0b%d", b"Content-Length: \x00%d", b"Content-Length: 0\x00%d", b"Content-Length : %d", b"Content-Length\t: %d", b" Content-Length: %d",
           b"\tContent-Length: %d", b"Content-Length:\r\n %d", b"Content-Length: 1\r\n %d", b"X: y\nContent-Length: %d", b"X: y\rContent-Length: %d", b"Content-Length %d",
           b"Content-Length; %d", b"\x00Content-Length: %d", b"Content-Length: 0\r\nContent-Length: %d", b"Content-Length: %d\r\nContent-Length: 0", b"Content-Length: %d\r\nContent-Length: %d",
           b"Content-Length: %d\r\ncontent-length: 0", b"Content-Length: 0\r\nCONTENT-LENGTH: %d", b"Content-Length: 18446744073709551616", b"Content-Length: 18446744073709551615",
           b"Content-Length: 99999999999999999999999999", b"Content-Length: -1", b"Content-Length:", b"Content-Length: ", b"Content-Length: \xb2"]

# First lines with more than one reading.
LINES = [b"POST /v1/uploads HTTP/1.1 ", b"POST  /v1/uploads HTTP/1.1", b"POST /v1/uploads  HTTP/1.1", b"POST\t/v1/uploads\tHTTP/1.1", b" POST /v1/uploads HTTP/1.1", b"POST /v1/uploads HTTP/1.1\x0b",
         b"POST /v1/uploads HTTP/1.1\r", b"POST /v1/uploads HTTP/11", b"POST /v1/uploads HTTP/1.10", b"POST /v1/uploads HTTP/2.0", b"POST /v1/uploads HTTP/0.9", b"POST /v1/uploads http/1.1",
         b"POST /v1/uploads", b"POST /v1/uploads x HTTP/1.1", b"POST /v1/uploads\x00 HTTP/1.1", b"P\x00ST /v1/uploads HTTP/1.1", b"POST /v1/up\rloads HTTP/1.1", b"POST x:/v1/uploads HTTP/1.1",
         b"POST http://x/v1/uploads HTTP/1.1", b"GET /v1/uploads HTTP/1.1", b"GET /healthz HTTP/1.1", b"HEAD /healthz HTTP/1.1", b"OPTIONS * HTTP/1.1", b"CONNECT x:80 HTTP/1.1", b"TRACE / HTTP/1.1",
         b"PRI * HTTP/2.0", b"post /v1/uploads HTTP/1.1", b"POSTT /v1/uploads HTTP/1.1"]

# Chunks with more than one reading; %s is what is hidden, %x its length.
CHUNKS = [b"0\r\n\r\n%s", b"0\n\n%s", b"0\r\n\n%s", b"0\n\r\n%s", b"0;a\r\n\r\n%s", b"0;\r\n\r\n%s", b"0;a=\"\r\n\r\n%s\"", b" 0\r\n\r\n%s", b"0 \r\n\r\n%s", b"00\r\n\r\n%s", b"+0\r\n\r\n%s",
          b"-0\r\n\r\n%s", b"0x0\r\n\r\n%s", b"\r\n0\r\n\r\n%s", b"0\r\nX: y\n\n%s", b"0\r\nContent-Length: 5\r\n\r\n%s", b"\xb0\r\n\r\n%s", b"\r\n\r\n%s", b"g\r\n\r\n%s", b"\x00\r\n\r\n%s",
          b"10000000000000000\r\n\r\n%s", b"FFFFFFFFFFFFFFFF\r\n\r\n%s", b"80000000\r\n\r\n%s", b"-1\r\n\r\n%s", b"1\r\n\r\n%s", b"1\r\nZZ0\r\n\r\n%s", b"1\r\nZ0\r\n\r\n%s", b"1\nZ\n0\n\n%s"]

# Whole heads that other things may be wrong with.
OTHERS = [b"Host: y", b"Upgrade: h2c", b"Upgrade: websocket", b"Expect: 200-ok", b"Expect:", b"Content-Encoding: gzip", b"Content-Encoding: identity", b"X y", b": y", b"", b"X: \x01", b"X\x00: y", b"X(: y"]


def cases(upload):
    """(name, bytes) of all cases. upload(number): the upload to hide."""
    found = []

    def add(kind, what, make):
        u = upload(len(found))
        hidden = _hidden(u)
        found.append(("%s %r" % (kind, what), make(u, hidden)))

    for coding in CODINGS:
        # Who sees the coding ends after no chunk; who sees the length reads on.
        add("length, then coding", coding, lambda u, h: _post(b"Content-Length: %d" % (5 + len(h)), coding) + b"0\r\n\r\n" + h)
        # The other way round: the length ends before what the chunk holds.
        add("coding, then length", coding, lambda u, h: _post(coding, b"Content-Length: 4") + b"%x\r\n" % len(h) + h + b"\r\n0\r\n\r\n")
    for length in LENGTHS:
        for first in (True, False):
            def make(u, h):
                n = len(h)
                field = length.replace(b"%d", b"%d" % n).replace(b"%x", b"%x" % n)
                fields = [field, b"X-Y: z"] if first else [b"X-Y: z", field]
                return _post(*fields) + h
            if first or not length.startswith((b" ", b"\t")):
                add("length", (length, first), make)
    for line in LINES:
        add("line", line, lambda u, h: _post(b"Content-Length: %d" % len(h), line=line) + h)
    for chunks in CHUNKS:
        add("both, chunks", chunks, lambda u, h: _post(b"Content-Length: %d" % len(chunks.replace(b"%s", h)), b"Transfer-Encoding: chunked") + chunks.replace(b"%s", h))
    for other in OTHERS:
        add("head", other, lambda u, h: _post(b"Content-Length: %d" % len(h), other) + h if other else
            b"POST /v1/uploads HTTP/1.1\nHost: x\nContent-Length: %d\n\n" % len(h) + h)
    return found
