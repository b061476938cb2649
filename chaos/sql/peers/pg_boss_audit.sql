-- A failed attempt is deleted and inserted again, as retry or as failed.
create function chaos.note_write() returns trigger language plpgsql as $$
declare
  v_kind text := case new.state::text
    when 'active' then 'claimed'
    when 'completed' then 'finished'
    when 'retry' then 'returned'
    when 'failed' then 'dead'
  end;
begin
  if new.name <> 'work' or v_kind is null then return null; end if;
  if tg_op = 'UPDATE' and old.state = new.state then return null; end if;
  insert into chaos.writes (job, kind, spent) values (new.data ->> 'key', v_kind, new.retry_count);
  return null;
end $$;
create trigger chaos_note_write after insert or update on pgboss.job
  for each row execute function chaos.note_write();
