-- Whether workers are told of new work, or find it by looking.
create domain "unstuck".on_or_off as text
  constraint takes_on_or_off check (value in ('on', 'off'));
comment on domain "unstuck".on_or_off is 'on or off';
alter table "unstuck".policies add column notify "unstuck".on_or_off not null default 'on';
