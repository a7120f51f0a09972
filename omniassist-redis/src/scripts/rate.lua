-- Counts an attempt (GCRA). The key has the time in microseconds at which the burst is full again.
-- Arguments: the microseconds between two attempts, the burst.
-- Returns 0, or the microseconds after which the attempt may succeed.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local wait = full + interval - now - interval * burst
if wait > 0 then
  return math.ceil(wait)
end
full = full + interval
-- Lua writes large numbers with 14 digits by default.
redis.call('SET', KEYS[1], string.format('%.2f', full), 'PX', math.ceil((full - now) / 1000))
return 0
