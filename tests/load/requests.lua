-- requests.lua - what wrk sends that was made before: bodies of SIZE bytes each in
-- the file REQUESTS, each sent once where there are enough of them. PATH_ is where
-- they go, TYPE what they are if not sealed; DELAY milliseconds pass between an
-- answer and the connection's next request.

local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

local size, head, all, count, at
function init(args)
    local file = assert(io.open(os.getenv("REQUESTS"), "rb"))
    all = file:read("*a")
    file:close()
    size = tonumber(os.getenv("SIZE"))
    count = #all / size
    at = math.floor(count / 2) * number -- of two threads
    head = "POST " .. os.getenv("PATH_") .. " HTTP/1.1\r\nHost: load\r\nContent-Type: " .. (os.getenv("TYPE") or "message/ohttp-req") .. "\r\nContent-Length: " .. size .. "\r\n\r\n"
end

function request()
    local from = at % count * size
    at = at + 1
    return head .. all:sub(from + 1, from + size)
end

if os.getenv("DELAY") then
    function delay() return tonumber(os.getenv("DELAY")) end
end

function done(summary, latency)
    local e = summary.errors
    io.write(string.format("RESULT %d %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
                           e.connect + e.read + e.write + e.status + e.timeout))
end
