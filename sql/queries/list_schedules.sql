select coalesce(to_jsonb(schedule), '{"name": null}') || jsonb_build_object('now', clock.now) as record
  from (select now()) clock left join "unstuck"."list_schedules"() schedule on true
