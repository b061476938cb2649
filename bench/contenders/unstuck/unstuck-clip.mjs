import { clipProfile } from '../../../dist/profile/index.js'
import { createApplicationTables } from './application-tables.mjs'
import { createUnstuck } from './unstuck-application.mjs'

export default createUnstuck({
  name: 'unstuck attached to the clip table',
  settings: 'defaults, the index of the team over status and heartbeat kept',
  profile: clipProfile,
  prepare: (url) => createApplicationTables(url, 'clip-tables.ts', 'clipTables'),
})
