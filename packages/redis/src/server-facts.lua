-- Returns the server's clock and what it says of itself. In a script, so that a Cluster responds from the node that has
-- the key, and every client sends it alike.
local time = redis.call('TIME')
local info = redis.pcall('INFO')
return { time[1], time[2], type(info) == 'table' and '' or info }
