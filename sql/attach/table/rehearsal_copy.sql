-- Tables for the rehearsal: the columns of the team's tables, without rows, triggers or constraints.
create table "unstuck".unstuck_rehearsal_jobs as table "unstuck"."jobs" with no data;
/*+team_events
create table "unstuck".unstuck_rehearsal_events as table "team_events" with no data;
*/
