"""The words rules of facts rest on: work, kin, animals, belongings, conditions, traits, peoples."""
