-- The account of a principal. The hash has the window's beginning and the tokens that are spent and reserved, and the
-- tokens of each reservation. The sorted set has the expiry of each reservation. Times are milliseconds.
-- Arguments: the id and the lifetime of a reservation, the window.
local expiries, account = KEYS[1], KEYS[2]
local id, lifetime, window = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function number(field)
  return tonumber(redis.call('HGET', account, field) or 0)
end

local began, spent, reserved = number('began'), number('spent'), number('reserved')
if now >= began + window then
  began, spent = now, 0
end

-- Removes a reservation, and returns its tokens.
local function remove(which)
  local tokens = number('of ' .. which)
  redis.call('HDEL', account, 'of ' .. which)
  redis.call('ZREM', expiries, which)
  reserved = reserved - tokens
  return tokens
end

-- Reservations of servers that were killed count as spent.
for _, other in ipairs(redis.call('ZRANGEBYSCORE', expiries, '-inf', now, 'LIMIT', 0, 1000)) do
  if other ~= id then
    spent = spent + remove(other)
  end
end

-- Stores the account. It expires when nothing is reserved and the window has passed.
local function store()
  local text = function(value)
    return string.format('%.0f', value)
  end
  redis.call('HSET', account, 'began', text(began), 'spent', text(spent), 'reserved', text(reserved))
  local last = redis.call('ZRANGE', expiries, -1, -1, 'WITHSCORES')
  local left = text(math.max(began + window, tonumber(last[2] or 0)) - now)
  redis.call('PEXPIRE', account, left)
  redis.call('PEXPIRE', expiries, left)
end

