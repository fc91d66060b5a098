-- Finishes a batch in one step: acknowledges each line, adds its result, and deletes the line.
--
-- KEYS  input, sealed, refused
-- ARGV  group, then for each line: its id, "sealed" or "refused", its result
--
-- XACK returns whether the line was still pending. If another worker has finished the line in the meantime, the script
-- keeps that result and drops this worker's. Returns the number of results that it added.
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
