// Jest starts workers from two files on
// oxlint-disable-next-line import/no-unassigned-import -- its tests are wanted
import './records.jest.ts'
