-- One session stands for all workers.
with taken as materialized (
  select unstuck.take_presence('native', 'w' || n, 1024 * n, 2000) from generate_series(1, $1::int) n
)
select count(*) from taken
