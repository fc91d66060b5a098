-- Finishes lines in one step: acknowledges each line, adds its result, and deletes the line.
--
-- KEYS  input, sealed, refused, dead
-- ARGV  group, then for each line: its id; "sealed", "refused" or "dead"; the sealed line, or the unchanged line; and the code
--       and the reason of a line that isn't sealed
--
-- XACK returns whether the line was still pending. If another worker has finished the line in the meantime, the script
-- keeps that result and drops this worker's. Returns the number of results that it added.
local added = 0
for at = 2, #ARGV, 5 do
    local id, kind, line, code, reason = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
    if redis.call('XACK', KEYS[1], ARGV[1], id) == 1 then
        if kind == 'sealed' then
            redis.call('XADD', KEYS[2], '*', 'line', line)
        else
            redis.call('XADD', kind == 'dead' and KEYS[4] or KEYS[3], '*', 'line', line, 'code', code, 'reason', reason)
        end
        redis.call('XDEL', KEYS[1], id)
        added = added + 1
    end
end
return added
