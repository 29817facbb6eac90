export default {
  testMatch: ['**/*.jest.ts'],
  globalSetup: './setup.js',
  globalTeardown: './teardown.js',
  transform: { '\\.ts$': '../strip-types.cjs' },
  extensionsToTreatAsEsm: ['.ts'],
}
