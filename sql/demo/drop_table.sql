drop table "demo".jobs;
drop schema "demo";
