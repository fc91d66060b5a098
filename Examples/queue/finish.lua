-- Ends a batch in one step: each line is acknowledged, what it became is added, and it is deleted.
--
-- KEYS  input, sealed, refused
-- ARGV  group, then for each line: its id, "sealed" or "refused", what it became
--
-- XACK tells whether the line was still pending. When another worker has ended it meanwhile, that result stands and
-- ours is dropped. Returns how many of ours were added.
local added = 0
for at = 2, #ARGV, 3 do
    local id, kind, line = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if redis.call('XACK', KEYS[1], ARGV[1], id) == 1 then
        redis.call('XADD', kind == 'sealed' and KEYS[2] or KEYS[3], '*', 'line', line)
        redis.call('XDEL', KEYS[1], id)
        added = added + 1
    end
end
return added
