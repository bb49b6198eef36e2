"""gin's errors, as a person reads them."""
import gin
import pytest

from drvf_tf import errors
from drvf_tf.runs import configuration


@pytest.mark.parametrize('binding, sentence', [
    ('DRVFAgnt.eta_q=1.0', "knows no name 'DRVFAgnt'"),
    ('DRVFAgnt.eta_q=1.0', 'did you mean DRVFAgent'),
    ('build_agent.agent_class=@DRVFAgnt', 'did you mean DRVFAgent'),
    ('Repulsion.weigth=1.0', 'did you mean weight?'),
    ('DRVFAgent.eta_odd=1.0', 'did you mean eta_ood'),
    ('DRVFAgent.eta_q==', 'cannot be read'),
    ("DRVFAgent.eta_q='ten'", "DRVFAgent.eta_q must be a number, not 'ten'"),
    ('train_eval.num_steps=1.5', 'must be a whole number, not 1.5'),
    ('train_eval.num_steps=True', 'must be a whole number, not True'),
    ('DRVFAgent.ood_batch_size="all"', 'must be a whole number or None'),
    ('EnsembleCriticNetwork.layer_norm="T"', 'must be True or False'),
    ('EnsembleCriticNetwork.hidden_units=256', 'each item a whole number'),
    ('DRVFAgent.backup="minimum"', 'written @name'),
    ('import nothing.here', 'nothing'),
])
def test_a_wrong_binding_is_one_sentence(binding, sentence):
  with pytest.raises(errors.UserError) as error:
    configuration.parse(['gin/quickstart.gin'], [binding])
  assert sentence in str(error.value)
  assert '\n' not in str(error.value)


def test_right_types_pass():
  configuration.parse(['gin/quickstart.gin'], [
      'DRVFAgent.eta_q=1', 'DRVFAgent.ood_batch_size=None',
      'EnsembleSacAgent.gamma=0.9', 'DRVFAgent.gamma=0.9',
      'EnsembleCriticNetwork.hidden_units=(8, 8)',
      'DRVFAgent.backup=@independent_mean'])


def test_a_missing_file_is_named():
  with pytest.raises(errors.UserError, match='gin/nothing.gin'):
    configuration.parse(['gin/nothing.gin'], [])


@pytest.mark.parametrize('files, whole', [
    (['gin/cpu.gin'], False), (['gin/baselines/iql.gin'], False),
    (['gin/quickstart.gin', 'gin/cpu.gin'], True)])
def test_a_whole_run_has_a_task(files, whole):
  configuration.parse(files, [])
  if whole:
    configuration.check_complete()
    return
  with pytest.raises(errors.UserError, match='name one first, e.g. --task='):
    configuration.check_complete()


def test_files_are_found_from_anywhere(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  (tmp_path / 'mine.gin').write_text(
      "include 'gin/hopper_medium.gin'\nDRVFAgent.eta_q = 7.0\n")
  configuration.parse(['mine.gin', 'gin/cpu.gin'], ['train_eval.seed=4'])
  assert gin.query_parameter('DRVFAgent.eta_q') == 7.0
  assert gin.query_parameter('DRVFAgent.eta_ood') == 1.0
  assert gin.query_parameter('DRVFAgent.ood_batch_size') == 32
  assert gin.query_parameter('train_eval.seed') == 4


def test_what_a_constructor_refuses_is_one_sentence():
  with pytest.raises(errors.UserError) as error:
    with errors.of_configuration():
      raise ValueError("bad\n  In call to configurable 'DRVFAgent' (<x>)\n"
                       "  In call to configurable 'build_agent' (<y>)")
  assert str(error.value) == (
      'The configuration cannot be used: DRVFAgent: bad')
