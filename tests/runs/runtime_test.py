"""What a run runs on."""
from drvf_tf.runs import runtime


def test_xla_hears_of_fast_math_once(monkeypatch):
  monkeypatch.setenv('XLA_FLAGS', '--xla_cpu_enable_xprof_traceme=false')
  runtime.configure_runtime()
  assert runtime.os.environ['XLA_FLAGS'] == (
      '--xla_cpu_enable_xprof_traceme=false')
  for _ in range(2):
    runtime.configure_runtime(xla_fast_math=True)
  flags = runtime.os.environ['XLA_FLAGS'].split()
  assert flags[:2] == ['--xla_cpu_enable_xprof_traceme=false',
                       '--xla_cpu_enable_fast_math=true']
  assert len(flags) == len(set(flags)) == 6
  assert '--xla_cpu_fast_math_honor_nans=true' in flags
