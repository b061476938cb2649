-- How long one attempt may run over all its stages; 0 is off. Tables that are attached already keep running without it,
-- and so does a native table whose deadlines somebody has changed.
-- The constraints come after the columns: a column whose domain has one makes PostgreSQL write the table anew, and a
-- call that waited for the lock would find no policy in it, for its snapshot is older.
create domain "unstuck".runtime_ms as bigint;
create domain "unstuck".deadlines_by_type as jsonb;
alter table "unstuck".policies
  add column max_runtime_ms "unstuck".runtime_ms not null default 0,
  add column type_runtimes_ms "unstuck".deadlines_by_type not null default '{}';
alter domain "unstuck".runtime_ms
  add constraint takes_milliseconds_from_0_to_one_year check (value between 0 and 31536000000);
comment on domain "unstuck".runtime_ms is 'milliseconds from 0 (off) to one year';
alter domain "unstuck".deadlines_by_type
  add constraint takes_an_object_of_type_and_deadline
  check (jsonb_typeof(value) = 'object' and not jsonb_path_exists(
    value, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 31536000000 || @.floor() != @)'));
comment on domain "unstuck".deadlines_by_type is
  'an object of types, each with whole milliseconds from 0 (off) to one year';
update "unstuck".policies
   set max_runtime_ms = 86400000
 where attachment = 'native' and default_deadline_ms = 86400000 and stage_deadlines_ms = '{}';
alter table "unstuck".policies alter column max_runtime_ms set default 86400000;
