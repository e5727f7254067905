-- upload.lua - what wrk sends: one upload again and again, each with an id of
-- its own. UPLOAD names a file with the upload to vary (docs/formats.md 5), and
-- TOKEN is a forwarder's, for one with many reports. Bytes 80 to 95 of its head
-- are the id, the last four of 128 are the CRC-32C of what stands before.

local ffi = require("ffi")
local bit = require("bit")

local table_ = ffi.new("uint32_t[256]")
for i = 0, 255 do
    local c = i
    for _ = 1, 8 do
        local low = bit.band(c, 1)
        c = bit.rshift(c, 1)
        if low == 1 then c = bit.bxor(c, 0x82F63B78) end
    end
    table_[i] = c
end

local function crc(state, bytes, from, to)
    for i = from, to - 1 do
        state = bit.bxor(bit.rshift(state, 8), table_[bit.band(bit.bxor(state, bytes[i]), 255)])
    end
    return state
end

local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

local head, wire, length, start, words, serial
function init(args)
    local file = assert(io.open(os.getenv("UPLOAD"), "rb"))
    local upload = file:read("*a")
    file:close()
    length = #upload
    wire = ffi.new("uint8_t[?]", length)
    ffi.copy(wire, upload, length)
    start = crc(-1, wire, 0, 80)
    words = ffi.cast("uint32_t *", wire)
    -- Ids are this run's, this thread's, and numbered.
    local random = assert(io.open("/dev/urandom", "rb"))
    ffi.copy(wire + 80, random:read(8), 8)
    random:close()
    words[22] = number
    serial = 0
    local token = os.getenv("TOKEN") or ""
    if token ~= "" then token = "Authorization: Bearer " .. token .. "\r\n" end
    head = "POST /v1/uploads HTTP/1.1\r\nHost: load\r\n" .. token .. "Content-Type: application/octet-stream\r\nContent-Length: " .. length .. "\r\n\r\n"
end

function request()
    serial = serial + 1
    words[23] = serial
    words[31] = bit.bnot(crc(start, wire, 80, 124))
    return head .. ffi.string(wire, length)
end

-- One line for the script: what came, how long it took, what went wrong.

function done(summary, latency)
    local e = summary.errors
    io.write(string.format("RESULT %d %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
                           e.connect + e.read + e.write + e.status + e.timeout))
end
