-- What attach made in the schema of a table, under names that the team's own SQL calls.
create table "unstuck".team_objects (
  attachment   text not null references "unstuck".attachments on delete cascade,
  table_schema text not null,
  name         text not null,
  kind         text not null check (kind in ('function', 'view', 'wrapper')),
  -- The types of its arguments.
  takes        text not null default '',
  phase        int not null,
  -- The order of removal.
  ordinal      int not null,
  -- Of its body as it was made: tells ours from what the team has put in its place since.
  digest       text not null,
  -- The name of what had this one before; of a wrapper, what it goes on with.
  kept_name    text,
  -- Of an empty function that waits to be filled in, as it was made.
  kept_digest  text,
  primary key (attachment, name)
);
