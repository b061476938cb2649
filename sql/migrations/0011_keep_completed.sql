-- Whether a completion keeps the row, for the native table.

-- Without the constraint, which would rewrite the table; it follows.
create domain "unstuck".flags_by_type as jsonb;
comment on domain "unstuck".flags_by_type is 'an object of types, each with true or false';
alter table "unstuck".policies
  add column keep_completed boolean not null default true,
  add column type_keep_completed "unstuck".flags_by_type not null default '{}';
alter domain "unstuck".flags_by_type add constraint takes_an_object_of_type_and_flag
  check (jsonb_typeof(value) = 'object' and not jsonb_path_exists(value, 'strict $.* ? (@.type() != "boolean")'));
comment on column "unstuck".policies.keep_completed is 'true or false';
-- The rows of an attached table are the team's.
alter table "unstuck".policies add constraint attached_tables_keep_completed_jobs
  check (attachment = 'native' or keep_completed and type_keep_completed = '{}');

-- The events of a job that its completion deleted cannot be deleted with the row: retention finds them by the last one.
create index if not exists events_deleted on "unstuck".events (attachment, at)
  where type = 'complete' and data #> '{details,is_deleted}' is not null;
