// @ts-check
// Writes the files of deploy/ that are made from the table of metrics; test/parity holds them to it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { renderAlerts, renderDashboard } from './deploy-files.mjs'

const { instruments } = await import('../dist/observe/instruments.js')

const files = {
  'prometheus/alerts.yml': renderAlerts(instruments),
  'grafana/unstuck.json': renderDashboard(instruments),
}
for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../deploy/${name}`, import.meta.url)
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
  console.log(`deploy/${name}`)
}
