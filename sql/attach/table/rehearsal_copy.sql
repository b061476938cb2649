-- Tables with the columns of the team's and nothing else of them, for the rehearsal: no row, no trigger, no constraint.
create table "unstuck".unstuck_rehearsal_jobs as table "unstuck"."jobs" with no data;
/*+team_events
create table "unstuck".unstuck_rehearsal_events as table "team_events" with no data;
*/
