"""Drop-ins: replace `import pytrec_eval` by `from exaequo.compat import pytrec_eval`, and the like for ir_measures and ranx."""
