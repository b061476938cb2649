-- Private: the number of this shard, which is in every id that it makes (docs/adr/0024). 0 on a single machine. An
-- install keeps it: jobs would not be found under another one (docs/adr/0038).
create or replace function "unstuck".shard_number()
returns integer language sql immutable
return /*shard*/0;
