import { defineProject } from 'vitest/config'

export default defineProject({
  // the files leave nothing behind that another would see, and loading a manager takes longer than most of them
  test: { isolate: false },
})
