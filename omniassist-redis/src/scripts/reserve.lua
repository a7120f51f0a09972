-- Reserves tokens. Arguments: the least and the most tokens, the tokens of a window.
-- Returns 1 and the reserved tokens, or 0 and the milliseconds after which to try again.
local least, most, limit = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local left = limit - spent
local room = left - reserved + number('of ' .. id)
if room < least then
  store()
  local renewed = began + window - now
  -- Another run may settle its reservation soon.
  return { 0, left >= least and math.min(renewed, 1000) or renewed }
end
local granted = math.min(room, most)
remove(id)
reserved = reserved + granted
redis.call('HSET', account, 'of ' .. id, string.format('%.0f', granted))
redis.call('ZADD', expiries, string.format('%.0f', now + lifetime), id)
store()
return { 1, granted }
