-- roles.sql - the database of a cluster of collectors and the role that they connect as
-- (docs/cluster.md). Run it once on the primary of each shard, as a superuser; again
-- does no harm:
--
--     psql -X -v ON_ERROR_STOP=1 -f roles.sql postgres
--     psql -X -c '\password hearsay' postgres      (not where nodes have certificates)
--
-- -v role=NAME, -v database=NAME and -v connections=N say otherwise than below. The
-- role may connect to this database and no other (pg_hba.conf), make its own schema in
-- it, and nothing else: it is no superuser, owns no database, makes no roles.

\if :{?role} \else \set role hearsay \endif
\if :{?database} \else \set database hearsay \endif
-- A node holds some eight connections to each shard at most; leave some for commands.
\if :{?connections} \else \set connections 60 \endif

select format('create role %I', :'role') where not exists (select from pg_roles where rolname = :'role') \gexec
select format('create database %I encoding ''UTF8'' template template0', :'database')
    where not exists (select from pg_database where datname = :'database') \gexec

alter role :"role" login nosuperuser nocreatedb nocreaterole noreplication nobypassrls noinherit connection limit :connections;

-- What holds for its sessions whatever the server's configuration says: nothing that
-- was acknowledged is lost, and no id or report stands in a log. It could not set most
-- of these itself.
alter role :"role" in database :"database" set synchronous_commit = 'on';
alter role :"role" in database :"database" set log_statement = 'none';
alter role :"role" in database :"database" set log_min_duration_statement = -1;
alter role :"role" in database :"database" set log_min_duration_sample = -1;
alter role :"role" in database :"database" set log_transaction_sample_rate = 0;
alter role :"role" in database :"database" set log_parameter_max_length = 0;
alter role :"role" in database :"database" set log_parameter_max_length_on_error = 0;
alter role :"role" in database :"database" set log_min_error_statement = 'panic';
alter role :"role" in database :"database" set log_error_verbosity = 'terse';
alter role :"role" in database :"database" set idle_in_transaction_session_timeout = '10s';

-- What everybody has by default goes.
revoke all on database :"database" from public;
grant connect, create on database :"database" to :"role";
\connect :"database"
revoke all on schema public from public;
revoke all on schema public from :"role";
