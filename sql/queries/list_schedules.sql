select schedule.*, clock.now
  from (select now()) clock left join "unstuck"."list_schedules"() schedule on true
