-- Registers a request under an idempotency key: begun, in-progress, answered (with the answer), or reused if the key
-- came with another request. A request that began over a minute ago and never ended may begin again. Deletes requests
-- older than a day, 20 at a time.
create or replace function "unstuck".begin_request(p_actor text, p_key text, p_sha256 bytea)
returns table (outcome text, status int, answer text) language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_found "unstuck".requests;
begin
  perform "unstuck".require(length(p_actor) between 1 and 300, 'actor', p_actor, '1 to 300 characters');
  perform "unstuck".require(length(p_key) between 1 and 255, 'key', p_key, '1 to 255 characters');
  perform "unstuck".require(length(p_sha256) = 32, 'sha256', length(p_sha256)::text || ' bytes', '32 bytes');
  delete from "unstuck".requests
   where requests.ctid = any (array(
           select old.ctid from "unstuck".requests old
            where old.begun_at < v_now - interval '1 day' order by old.begun_at limit 20 for update skip locked));
  loop
    insert into "unstuck".requests (actor, key, sha256, begun_at) values (p_actor, p_key, p_sha256, v_now)
        on conflict (actor, key) do nothing;
    if found then
      return query select 'begun', null::int, null::text;
      return;
    end if;
    select * into v_found from "unstuck".requests request
     where request.actor = p_actor and request.key = p_key for no key update;
    exit when found; -- Otherwise it was deleted in between.
  end loop;
  if v_found.sha256 <> p_sha256 then
    return query select 'reused', null::int, null::text;
  elsif v_found.status is not null then
    return query select 'answered', v_found.status, v_found.answer;
  elsif v_found.begun_at < v_now - interval '1 minute' then
    update "unstuck".requests request set begun_at = v_now where request.actor = p_actor and request.key = p_key;
    return query select 'begun', null::int, null::text;
  else
    return query select 'in-progress', null::int, null::text;
  end if;
end
$$;
