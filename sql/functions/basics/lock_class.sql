-- Private: class of the advisory locks of this installation for a purpose.
create or replace function "unstuck".lock_class(p_purpose text)
returns int language sql immutable
return hashtext('unstuck ' || p_purpose || ' ' || /*schema*/'unstuck');
