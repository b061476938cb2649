// Roles with settings that teams use in production. Each worker of the scenario `locks` connects as one of them.
import type { ChaosDatabase } from './database.ts'

const SETTINGS = {
  plain: {},
  repeatable: { default_transaction_isolation: 'repeatable read' },
  serializable: { default_transaction_isolation: 'serializable' },
  impatient: { lock_timeout: '1s', statement_timeout: '5s' },
}

/** Resolves to their names. */
export async function createRoles(database: ChaosDatabase): Promise<string[]> {
  const { password } = new URL(database.url)
  return database.withClient(async (client) => {
    const names = []
    for (const [suffix, settings] of Object.entries(SETTINGS)) {
      const name = `chaos_${suffix}`
      names.push(name)
      await client.query(`create role ${name} superuser login password '${decodeURIComponent(password)}'`)
      for (const [setting, value] of Object.entries(settings))
        await client.query(`alter role ${name} set ${setting} = '${value}'`)
    }
    return names
  })
}
