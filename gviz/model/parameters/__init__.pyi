from gviz.model.parameters.kernel_arguments import KernelArgument as KernelArgument
from gviz.model.parameters.kernel_arguments import arguments_of as arguments_of
from gviz.model.parameters.kernel_parameters import KernelParameter as KernelParameter
from gviz.model.parameters.kernel_parameters import KnownBy as KnownBy
from gviz.model.parameters.kernel_parameters import declared_parameters as declared_parameters
from gviz.model.parameters.kernel_parameters import fitting_parameters as fitting_parameters
from gviz.model.parameters.kernel_parameters import read_declared as read_declared
from gviz.model.parameters.signature import signature_text as signature_text
