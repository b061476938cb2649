// An idle Node process, as the baseline.
export default {
  name: 'Node alone',
  settings: 'imports nothing',
  needs: 'postgres',
  install: async () => {},
  openProducer: async () => ({ addOne: async () => {}, addMany: async () => {}, close: async () => {} }),
  startWorker: async () => ({ stop: async () => {} }),
  countUnfinished: async () => 0,
}
