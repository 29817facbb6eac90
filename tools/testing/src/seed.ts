import fc from 'fast-check'

// The configuration of the tests has set SEED, and the end of a run prints it.
fc.configureGlobal({ seed: Number(process.env['SEED']) })
