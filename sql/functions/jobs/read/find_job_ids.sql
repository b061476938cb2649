-- Ids that begin with p_prefix, in order, for people who type only the beginning. Numbers must match whole.
create or replace function "unstuck"."find_job_ids"(p_prefix text, p_limit int default 5)
returns table (id text) language plpgsql stable as $$
declare
  v_type text := /*id_type*/'uuid';
  v_hex text := replace(lower(p_prefix), '-', '');
  v_low /*id*/uuid;
  v_high /*id*/uuid;
begin
  perform "unstuck".require(length(p_prefix) between 1 and 200, 'prefix', p_prefix, '1 to 200 characters');
  perform "unstuck".require(p_limit between 1 and 100, 'limit', p_limit::text, 'a whole number from 1 to 100');
  if v_type = 'uuid' and v_hex ~ '^[0-9a-f]{1,32}$' then
    v_low := rpad(v_hex, 32, '0');
    v_high := rpad(v_hex, 32, 'f');
  elsif v_type <> 'uuid' and "unstuck".is_id(p_prefix, v_type) then
    v_low := p_prefix;
    v_high := p_prefix;
  end if;
  if v_type = 'text' then
    -- In almost every collation, ids with the prefix sort after it; how far is unknown.
    v_high := (select page.id
                 from (select job."id" as id from "unstuck"."jobs" job
                        where job."id" >= v_low order by job."id" limit 1000) page
                order by page.id desc limit 1);
  end if;
  return query
  select job."id"::text from "unstuck"."jobs" job
   where job."id" between v_low and v_high and (v_type = 'uuid' or starts_with(job."id"::text, p_prefix))
   order by job."id" limit p_limit;
end
$$;
