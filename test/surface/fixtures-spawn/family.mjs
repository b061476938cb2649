// A program with a child of its own, both running until they are told to end. Arguments: a folder, and how to take SIGTERM:
// `obey` ends with 0 after leaving a note, `refuse` goes on. Both leave their process ids in the folder.
import { spawn } from 'node:child_process'
import { leaveNote, stayUntilTold } from './notes.mjs'

const [folder, manner] = process.argv.slice(2)
stayUntilTold(folder, manner, 'child')
const grandchild = new URL('grandchild.mjs', import.meta.url).pathname
spawn(process.execPath, [grandchild, folder, manner], { stdio: 'inherit' })
leaveNote(folder, 'child.pid', process.pid)
