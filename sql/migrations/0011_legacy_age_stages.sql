-- Which running rows without a lease are judged by their age: all, or those whose stage has a lease of its own.
create domain "unstuck".judged_stages as text
  constraint takes_all_or_listed check (value in ('all', 'listed'));
comment on domain "unstuck".judged_stages is 'all or listed';
alter table "unstuck".policies add column legacy_age_stages "unstuck".judged_stages not null default 'all';
