// A worker that has started its watchdog and its child and is about to tell the one about the other.
// Arguments: a folder, the shell of the watchdog, and `told` where it gets to it.
import { spawn } from 'node:child_process'
import { startChildWatchdog } from '../../../dist/runtime/child/child-watchdog.js'
import { leaveNote } from './notes.mjs'

const [folder, shell, told] = process.argv.slice(2)
const watchdog = await startChildWatchdog(60_000, shell)
const child = spawn('sleep', ['600'], { detached: true, env: { ...process.env, ...watchdog.environment } })
if (told === 'told') watchdog.watch(child.pid)
leaveNote(folder, 'child.pid', child.pid)
