import { defineProject } from 'vitest/config'

export default defineProject({
  // the files share no state, and loading an OAuth server takes longer than most of them
  test: { isolate: false },
})
