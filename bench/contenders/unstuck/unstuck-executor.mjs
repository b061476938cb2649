import { executorProfile } from '../../../dist/profile/index.js'
import { createApplicationTables } from './application-tables.mjs'
import { createUnstuck } from './unstuck-application.mjs'

export default createUnstuck({
  name: 'unstuck attached to the executor table',
  settings: 'defaults',
  profile: executorProfile,
  prepare: (url) => createApplicationTables(url, 'executor-tables.ts', 'executorTables'),
})
