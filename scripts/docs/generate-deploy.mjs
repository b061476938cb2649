// @ts-check
// Writes the generated files of deploy/. test/repository/parity checks that they are up to date.
import { mkdirSync, writeFileSync } from 'node:fs'
import { renderAlerts, renderDashboard, renderSupabase } from './deploy-files.mjs'

const { instruments } = await import('../../dist/observe/metrics/instruments.js')
const { supabaseSql } = await import('../../dist/store/postgres/index.js')

const files = {
  'prometheus/alerts.yml': renderAlerts(instruments),
  'grafana/unstuck.json': renderDashboard(instruments),
  'supabase.sql': renderSupabase(supabaseSql('unstuck')),
}
for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../../deploy/${name}`, import.meta.url)
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
  console.log(`deploy/${name}`)
}
