-- Maxima other than the effective one ($1) in rows of unfinished jobs, where they win, or from the default of the
-- column. Reads 10,000 waiting and 10,000 running jobs. $2 and $3 are the names of the maximum and of the status, $4
-- the words of unfinished jobs, for the statement.
with relation as (
  select format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs') as name, attnotnull as is_needed,
         substring(pg_get_expr(adbin, adrelid) from '^[0-9]{1,9}$')::int as maximum, adbin is not null as has_default
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where attrelid = to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs')) and attname = $2::text
), looked as (
  (select job."max_attempts" as maximum from "unstuck"."jobs" job where job."status" = /*waiting*/'waiting' limit 10000)
  union all
  (select job."max_attempts" from "unstuck"."jobs" job where job."status" in /*running_words*/('running') limit 10000)
), found as (
  select maximum, count(*)::int as jobs from looked group by 1
  union all
  select maximum, 0 from relation
)
select found.maximum::int, sum(found.jobs)::int as jobs, bool_or(found.maximum = relation.maximum) as is_default,
       case when relation.has_default
            then format('alter table %s alter column %I %s; ', relation.name, $2::text,
                        case when relation.is_needed then 'set default ' || $1::int else 'drop default' end)
            else '' end
       || format('update %s set %I = %s where %2$I = %4$s and %5$I in (%6$s)', relation.name, $2::text,
                 case when relation.is_needed then $1::int::text else 'null' end, found.maximum, $3::text,
                 (select string_agg(quote_literal(word), ', ') from pg_catalog.unnest($4::text[]) word)) as fix
  from found, relation
 where found.maximum <> $1::int
 group by found.maximum, relation.name, relation.is_needed, relation.has_default
 order by 2 desc limit 5
