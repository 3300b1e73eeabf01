create table numbers (n integer primary key, square integer, name text);
with recursive counter(n) as (select 0 union all select n + 1 from counter where n < 2999)
  insert into numbers select n, n * n, 'number ' || n from counter;
create index by_name on numbers (name);
begin;
update numbers set name = upper(name) where n % 7 = 0;
delete from numbers where n % 100 = 99 and square < 0;
commit;
select count(*), sum(n) from numbers;
select name, square from numbers where name like 'NUMBER 1%' order by square desc limit 5;
select a.n, b.n from numbers a join numbers b on a.square = b.n where a.n > 1 limit 5;
begin;
delete from numbers;
rollback;
select round(avg(square), 3), max(length(name)) from numbers;
