-- What picomem asks of Citus 14, as a plain PostgreSQL can answer, record and refuse it. As a superuser, in a database
-- without a store. A shard is a partition, and the machines are this server; `fake_citus.take_down` lets one of them not
-- answer.
CREATE SCHEMA fake_citus;
GRANT USAGE ON SCHEMA fake_citus TO PUBLIC;
CREATE TABLE fake_citus.calls (n bigint GENERATED ALWAYS AS IDENTITY, call text);
CREATE TABLE fake_citus.down (groupid int PRIMARY KEY);
CREATE SEQUENCE fake_citus.shard_ids START 102008;
SET allow_system_table_mods TO on;
INSERT INTO pg_extension VALUES (99999, 'citus', 10, 'pg_catalog'::regnamespace, false, '14.0-1', NULL, NULL);
CREATE TABLE pg_catalog.pg_dist_node (
  groupid int PRIMARY KEY, nodename text, nodeport int, noderole text DEFAULT 'primary', shouldhaveshards boolean);
INSERT INTO pg_dist_node VALUES (0, 'db0', 5432, 'primary', false), (1, 'db1', 5432, 'primary', true), (2, 'db2', 5432, 'primary', true);
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char", colocationid int);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint PRIMARY KEY, modulus int, remainder int);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint, groupid int);
CREATE TABLE pg_catalog.pg_dist_cleanup (
  record_id bigint, operation_id bigint, object_type int, object_name text, node_group_id int, policy_type int);
GRANT SELECT ON pg_dist_node, pg_dist_partition, pg_dist_shard, pg_dist_placement, pg_dist_cleanup TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA fake_citus TO PUBLIC;

CREATE FUNCTION pg_catalog.citus_is_coordinator() RETURNS boolean LANGUAGE sql AS 'SELECT coalesce(current_setting(''fake_citus.is_worker'', true), '''') <> ''on''';

CREATE FUNCTION pg_catalog.create_distributed_table(table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  schema_name text := (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = table_name);
  name text := (SELECT relname FROM pg_class WHERE oid = table_name);
  owner text := (SELECT relowner::regrole::text FROM pg_class WHERE oid = table_name);
  keys text[] := ARRAY(SELECT format('ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE conrelid = table_name AND contype IN ('p', 'u', 'f') AND conparentid = 0 ORDER BY contype DESC);
  policies text[] := ARRAY(SELECT format('CREATE POLICY %I ON %%s USING (%s)', polname, pg_get_expr(polqual, polrelid)) FROM pg_policy WHERE polrelid = table_name);
  shards int := coalesce(nullif(current_setting('citus.shard_count', true), '')::int, 2);
  whole text := format('%I.%I', schema_name, name);
  made regclass;
  shard text;
  id bigint;
  one text;
BEGIN
  INSERT INTO fake_citus.calls (call) VALUES (format('create_distributed_table(%s, %s, colocate_with => %s)', name, distribution_column, colocate_with));
  IF EXISTS (SELECT FROM pg_index x WHERE x.indrelid = table_name AND (x.indisunique OR x.indisprimary) AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = table_name AND a.attname = distribution_column AND a.attnum = ANY (x.indkey))) THEN
    RAISE 'cannot create constraint on "%"', name USING DETAIL = 'Distributed relations cannot have UNIQUE, EXCLUDE, or PRIMARY KEY constraints that do not include the partition column';
  END IF;
  IF EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = table_name AND p.polqual::text LIKE '%SUBLINK%') THEN
    RAISE 'cannot create policy' USING DETAIL = 'Subqueries are not supported in policies on distributed tables';
  END IF;
  -- Accepted by Citus, which then never ends the move of a shard that is written to.
  IF (SELECT relforcerowsecurity FROM pg_class WHERE oid = table_name) THEN
    RAISE 'cannot replicate into relation with row-level security enabled: "%"', name;
  END IF;
  IF EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = table_name AND c.contype = 'f' AND c.conparentid = 0 AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.confrelid)) THEN
    RAISE 'referenced table must be a distributed table or a reference table';
  END IF;
  IF colocate_with <> 'none' AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(format('%I.%I', schema_name, colocate_with))) THEN
    RAISE 'relation % is not distributed', colocate_with;
  END IF;
  -- The table is empty: it is made again with partitions.
  EXECUTE format('CREATE TABLE %I.distributing (LIKE %s INCLUDING CONSTRAINTS INCLUDING DEFAULTS) PARTITION BY HASH (%I)', schema_name, whole, distribution_column);
  EXECUTE format('DROP TABLE %s', whole);
  EXECUTE format('ALTER TABLE %I.distributing RENAME TO %I', schema_name, name);
  EXECUTE format('ALTER TABLE %s OWNER TO %s', whole, owner);
  made := whole::regclass;
  INSERT INTO pg_dist_partition VALUES (made, 'h', 1);
  FOREACH one IN ARRAY keys LOOP EXECUTE format('ALTER TABLE %s %s', whole, one); END LOOP;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', whole);
  FOREACH one IN ARRAY policies LOOP EXECUTE format(one, whole); END LOOP;
  FOR remainder IN 0 .. shards - 1 LOOP
    id := nextval('fake_citus.shard_ids');
    shard := format('%I.%I', schema_name, name || '_' || id);
    EXECUTE format('CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)', shard, whole, shards, remainder);
    EXECUTE format('ALTER TABLE %s OWNER TO %s', shard, owner);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', shard);
    FOREACH one IN ARRAY policies LOOP EXECUTE format(one, shard); END LOOP;
    EXECUTE format('ALTER INDEX %I.%I RENAME TO %I', schema_name, name || '_' || id || '_pkey', name || '_pkey_' || id);
    INSERT INTO pg_dist_shard VALUES (made, id, shards, remainder);
    INSERT INTO pg_dist_placement VALUES (id, 1 + remainder % 2);
  END LOOP;
END $$;

CREATE FUNCTION pg_catalog.create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO fake_citus.calls (call) SELECT format('create_reference_table(%s)', relname) FROM pg_class WHERE oid = table_name;
  INSERT INTO pg_dist_partition VALUES (table_name, 'n', 2);
END $$;

-- A table that is dropped leaves nothing in the catalogs of Citus.
CREATE FUNCTION fake_citus.forget() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  DELETE FROM pg_dist_placement USING pg_dist_shard AS s, pg_event_trigger_dropped_objects() AS d WHERE pg_dist_placement.shardid = s.shardid AND s.logicalrelid::oid = d.objid;
  DELETE FROM pg_dist_shard USING pg_event_trigger_dropped_objects() AS d WHERE logicalrelid::oid = d.objid;
  DELETE FROM pg_dist_partition USING pg_event_trigger_dropped_objects() AS d WHERE logicalrelid::oid = d.objid;
END $$;
CREATE EVENT TRIGGER forget ON sql_drop WHEN TAG IN ('DROP TABLE') EXECUTE FUNCTION fake_citus.forget();

-- Citus drops one object with a command, and takes no subquery in a policy.
CREATE FUNCTION fake_citus.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_query() ~* '^\s*DROP (TABLE|INDEX)[^;]*,' THEN RAISE 'cannot drop multiple distributed objects in a single command'; END IF;
  IF current_query() ~* '^\s*CREATE POLICY.*\(\s*SELECT' THEN RAISE 'unexpected non-SELECT command in SubLink'; END IF;
END $$;
CREATE EVENT TRIGGER refuse ON ddl_command_start EXECUTE FUNCTION fake_citus.refuse();

CREATE FUNCTION pg_catalog.get_shard_id_for_distribution_column(table_name regclass, distribution_value text) RETURNS bigint LANGUAGE sql AS $$
  SELECT shardid FROM pg_dist_shard WHERE logicalrelid = table_name AND satisfies_hash_partition(logicalrelid::oid, modulus, remainder, distribution_value)
$$;
CREATE FUNCTION pg_catalog.shard_name(object_name regclass, shard_id bigint) RETURNS text LANGUAGE sql AS $$
  SELECT format('%I.%I', relnamespace::regnamespace::text, relname || '_' || shard_id) FROM pg_class WHERE oid = object_name
$$;
CREATE FUNCTION fake_citus.is_down(machine int) RETURNS boolean LANGUAGE sql SECURITY DEFINER AS 'SELECT EXISTS (SELECT FROM fake_citus.down WHERE groupid = machine)';
CREATE FUNCTION pg_catalog.citus_total_relation_size(logicalrelid regclass, fail_on_error boolean DEFAULT true) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM fake_citus.down) THEN
    IF fail_on_error THEN RAISE 'could not connect to db2:5432 to get size of relation "%"', logicalrelid USING ERRCODE = '08006'; END IF;
    RETURN NULL;
  END IF;
  RETURN (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(logicalrelid));
END $$;

CREATE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port int[], command text[], parallel boolean, OUT node_name text, OUT node_port int, OUT success boolean, OUT result text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  one text;
BEGIN
  FOR i IN 1 .. array_length(worker_name, 1) LOOP
    node_name := worker_name[i]; node_port := port[i]; success := true; result := '';
    IF current_setting('transaction_read_only') = 'off' THEN INSERT INTO fake_citus.calls (call) VALUES (format('%s: %s', node_name, command[i])); END IF;
    IF (SELECT fake_citus.is_down(groupid) FROM pg_dist_node WHERE nodename = node_name) THEN
      success := false; result := format('failed to connect to %s:%s', node_name, node_port);
    ELSE
      BEGIN
        FOREACH one IN ARRAY string_to_array(regexp_replace(command[i], '^BEGIN; (.*); COMMIT$', '\1'), '; ') LOOP
          IF one LIKE 'SELECT%' THEN EXECUTE one INTO result; ELSE EXECUTE one; END IF;
        END LOOP;
      EXCEPTION WHEN OTHERS THEN success := command[i] LIKE 'BEGIN;%'; result := 'ERROR:  ' || SQLERRM;  -- of the first statement alone
      END;
      IF command[i] LIKE 'BEGIN;%' THEN result := 'BEGIN'; END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
GRANT INSERT ON fake_citus.calls TO PUBLIC;

CREATE PROCEDURE pg_catalog.citus_cleanup_orphaned_resources() LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF (SELECT pg_has_role(session_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'picomem.memories'::regclass) THEN DELETE FROM pg_dist_cleanup;
  ELSE RAISE WARNING 'must be owner of table memories'; END IF;
END $$;

-- The shards of a machine that does not answer can be neither read nor written.
CREATE FUNCTION fake_citus.answers(shard oid) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_class AS c JOIN pg_dist_placement AS p ON c.relname LIKE '%\_' || p.shardid JOIN fake_citus.down AS d ON d.groupid = p.groupid WHERE c.oid = shard) THEN
    RAISE 'connection to the remote node picomem_plain@db2:5432 failed with the following error: Connection refused' USING ERRCODE = '08006';
  END IF;
  RETURN true;
END $$;
CREATE FUNCTION fake_citus.take_down(machine int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  one regclass;
BEGIN
  INSERT INTO fake_citus.down VALUES (machine);
  FOR one IN SELECT logicalrelid FROM pg_dist_partition WHERE partmethod = 'h' LOOP
    EXECUTE format('CREATE POLICY machine ON %s AS RESTRICTIVE USING (fake_citus.answers(tableoid))', one);
  END LOOP;
END $$;
