import { leaveNote, stayUntilTold } from './notes.mjs'

const [folder, manner] = process.argv.slice(2)
stayUntilTold(folder, manner, 'grandchild')
leaveNote(folder, 'grandchild.pid', process.pid)
