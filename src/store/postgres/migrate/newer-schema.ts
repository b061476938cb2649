import { UnstuckError } from '../../../errors/index.ts'

export function newerSchema(migration: string): UnstuckError {
  return new UnstuckError('SCHEMA_NEWER', `migration ${migration} is not known to this version of unstuck`, {
    hint: 'The schema was installed by a newer version: upgrade this one.',
  })
}
