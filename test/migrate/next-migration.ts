// A migration of a version that does not exist yet, for tests of upgrades.
import { readSqlFolder, type SqlFile } from '../../src/store/postgres/sql-files.ts'

export const nextMigration: SqlFile = {
  name: '9999_next',
  text: `alter table "unstuck".jobs add column if not exists colour text not null default 'green';\n`,
}

export const withNextMigration = (next = nextMigration): SqlFile[] => [...readSqlFolder('migrations'), next]
