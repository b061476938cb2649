-- A completed job is deleted.
create function chaos.note_write() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into chaos.writes (job, kind, spent) values (old.payload ->> 'key', 'finished', old.attempts);
  else
    insert into chaos.writes (job, kind, spent)
    values (
      new.payload ->> 'key',
      case
        when new.locked_at is not null then 'claimed'
        when new.attempts >= new.max_attempts then 'dead'
        else 'returned'
      end,
      new.attempts
    );
  end if;
  return null;
end $$;
create trigger chaos_note_write after update on graphile_worker._private_jobs
  for each row when ((old.locked_at is null) <> (new.locked_at is null)) execute function chaos.note_write();
create trigger chaos_note_delete after delete on graphile_worker._private_jobs
  for each row execute function chaos.note_write();
