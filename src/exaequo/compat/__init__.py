"""Drop-ins: `from exaequo.compat import pytrec_eval` for `import pytrec_eval`, and so for ir_measures and ranx."""
